#include <rocio/fpga/slac_session.hpp>

namespace rocio::fpga {

void slac_session::forget_resources() {
    pd_handler.reset();
    region.reset();
    qpn.reset();
    open = open_request::none;
    wedged = false;
    note_identity();
}

slac_engine_snapshot slac_session::snapshot() const {
    const std::lock_guard held(mutex_);
    return snapshot_;
}

void slac_session::note_state(const char* state) {
    const std::lock_guard held(mutex_);
    snapshot_.state = state;
}

void slac_session::note_stage(const std::string& stage) {
    const std::lock_guard held(mutex_);
    snapshot_.stage = stage;
}

void slac_session::note_error(const error_info& error) {
    const std::lock_guard held(mutex_);
    snapshot_.last_error = error;
    snapshot_.last_error_time = std::chrono::system_clock::now();
}

void slac_session::note_warning(const std::string& text) {
    const std::lock_guard held(mutex_);
    ++snapshot_.warnings;
    snapshot_.last_warning = text;
}

void slac_session::note_identity() {
    const std::lock_guard held(mutex_);
    snapshot_.fpga_qpn = qpn.value_or(0);
    snapshot_.pd_handler = pd_handler.value_or(0);
    snapshot_.lkey = region ? region->lkey : 0;
    snapshot_.rkey = region ? region->rkey : 0;
}

void slac_session::count(std::uint64_t slac_engine_snapshot::*counter) {
    const std::lock_guard held(mutex_);
    ++(snapshot_.*counter);
}

} // namespace rocio::fpga
