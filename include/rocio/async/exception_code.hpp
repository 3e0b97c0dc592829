#pragma once

#include <rocio/types/error.hpp>

#include <boost/system/errc.hpp>
#include <boost/system/system_error.hpp>

#include <exception>
#include <new>

namespace rocio::async {

/// The code of an exception that ended a coroutine. One that is neither std::bad_alloc nor a system_error is
/// a defect and goes on.
inline error_code code_of(const std::exception_ptr& e) {
    try {
        std::rethrow_exception(e);
    } catch (const std::bad_alloc&) {
        return make_error_code(boost::system::errc::not_enough_memory);
    } catch (const boost::system::system_error& error) {
        return error.code();
    }
}

} // namespace rocio::async
