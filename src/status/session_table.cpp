#include "session_table.hpp"

#include <utility>

namespace rocio::detail {

session_table::entry::entry(std::shared_ptr<session_table> table)
    : table_(std::move(table)), place_(table_->order_.insert(table_->order_.end(), this)) {
    ++table_->open_;
}

session_table::entry::~entry() {
    if (!closed_) --table_->open_;
    table_->order_.erase(place_);
}

void session_table::entry::become_idle() noexcept {
    state_ = state::idle;
    table_->order_.splice(table_->order_.end(), table_->order_, place_);
}

void session_table::entry::become_asking() noexcept {
    state_ = state::asking;
    table_->order_.splice(table_->order_.end(), table_->order_, place_);
}

void session_table::entry::become_busy() noexcept {
    state_ = state::busy;
}

void session_table::close(entry& session) noexcept {
    if (session.closed_) return;
    session.closed_ = true;
    --open_;
    session.close();
}

bool session_table::close_oldest(state which) noexcept {
    for (entry* session : order_) {
        if (session->state_ != which || session->closed_) continue;
        close(*session);
        return true;
    }
    return false;
}

bool session_table::make_room() noexcept {
    return close_oldest(state::idle) || close_oldest(state::asking);
}

void session_table::close_all() noexcept {
    for (entry* session : order_) close(*session);
}

} // namespace rocio::detail
