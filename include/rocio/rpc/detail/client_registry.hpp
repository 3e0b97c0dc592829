#pragma once

#include <boost/asio/execution_context.hpp>

#include <memory>
#include <mutex>
#include <vector>

namespace rocio::rpc::detail {

class client_core;

/// The clients of an execution context. When the context ends it destroys their calls without calling the
/// handlers: a coroutine may own the client whose call owns the coroutine.
class client_registry : public boost::asio::execution_context::service {
  public:
    using key_type = client_registry;
    static boost::asio::execution_context::id id;

    explicit client_registry(boost::asio::execution_context& context) : service(context) {}

    void add(client_core& core);
    void remove(client_core& core) noexcept;

  private:
    void shutdown() noexcept override;

    std::mutex mutex_;
    std::vector<client_core*> cores_;
};

} // namespace rocio::rpc::detail
