// Uses rocio::core alone, which needs neither ISA-L nor Boost.JSON.
#include <rocio/io/busy_poll_context.hpp>

#include <boost/asio/post.hpp>

int main() {
    rocio::busy_poll_context context;
    bool ran = false;
    boost::asio::post(context, [&ran] { ran = true; });
    context.run();
    return ran ? 0 : 1;
}
