#pragma once

#include <cstddef>
#include <list>
#include <memory>

namespace rocio::detail {

/// The open sessions of one listener, in the order in which they last began to idle or to ask. Not
/// thread-safe: the listener's strand.
class session_table {
    enum class state { idle, asking, busy };

  public:
    /// A session's place in the table; the session derives from it.
    class entry {
      public:
        explicit entry(std::shared_ptr<session_table> table);
        entry(const entry&) = delete;
        entry& operator=(const entry&) = delete;
        virtual ~entry();

      protected:
        void become_idle() noexcept;   ///< May be evicted from now on.
        void become_asking() noexcept; ///< Its request is coming in: may be evicted when none idles.
        void become_busy() noexcept;   ///< Its request is being answered.

      private:
        friend class session_table;
        /// Ends the connection; the session itself goes when its pending operation has noticed.
        virtual void close() noexcept = 0;

        std::shared_ptr<session_table> table_;
        std::list<entry*>::iterator place_;
        state state_ = state::idle;
        bool closed_ = false;
    };

    /// Sessions with an open connection.
    std::size_t open() const noexcept { return open_; }
    /// Closes the session idle for longest, else the one that has been asking for longest: an honest request
    /// is there within a round trip, and whoever sends it in drops must not keep others out. False if every
    /// one is busy.
    bool make_room() noexcept;
    void close_all() noexcept;

  private:
    void close(entry& session) noexcept;
    bool close_oldest(state which) noexcept;

    std::list<entry*> order_;
    std::size_t open_ = 0;
};

} // namespace rocio::detail
