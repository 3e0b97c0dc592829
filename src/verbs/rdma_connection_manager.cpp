#include "verbs/rdma_connection_manager.hpp"

#include "verbs/cm_address.hpp"
#include "verbs/cm_event_translation.hpp"
#include "verbs/failure.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>

namespace rocio::verbs {

namespace {

constexpr std::string_view without_module =
    "the kernel's module rdma_ucm is needed (modprobe rdma_ucm), and access to /dev/infiniband/rdma_cm";

void* context_of(cm_id id) noexcept {
    // A number, not a pointer: an event that comes late must not lead to an object that is gone.
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(id)); // NOLINT(performance-no-int-to-ptr)
}

cm_id id_of(const rdma_cm_id& id) noexcept {
    return static_cast<cm_id>(reinterpret_cast<std::uintptr_t>(id.context));
}

int milliseconds_of(std::chrono::milliseconds limit) noexcept {
    return static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(limit.count(), 1, 3'600'000));
}

error_info make_nonblocking(int descriptor, std::string_view device) {
    const int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0 || fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) < 0 ||
        fcntl(descriptor, F_SETFD, FD_CLOEXEC) < 0)
        return failure(errno, "fcntl(O_NONBLOCK)", device);
    return {};
}

} // namespace

error_info rdma_connection_manager::make(std::shared_ptr<device_core> core,
                                         std::unique_ptr<connection_manager>& out) {
    std::unique_ptr<rdma_connection_manager> made(new rdma_connection_manager(std::move(core)));
    made->channel_.reset(rdma_create_event_channel());
    if (!made->channel_) {
        const int number = errno;
        return failure(number, "rdma_create_event_channel", made->core_->name(), without_module);
    }
    if (auto bad = make_nonblocking(made->channel_->fd, made->core_->name())) return bad;
    out = std::move(made);
    return {};
}

error_info rdma_connection_manager::failed(std::string_view call) const {
    return failure(errno, call, core_->name());
}

error_info rdma_connection_manager::unknown() const {
    return {errc::invalid_state, "this connection of " + core_->name() + " was given up"};
}

cm_id rdma_connection_manager::keep(rdma_cm_id* id) {
    const auto number = static_cast<cm_id>(++last_);
    id->context = context_of(number);
    ids_[number].id.reset(id);
    return number;
}

rdma_cm_id* rdma_connection_manager::find(cm_id id) const noexcept {
    const auto found = ids_.find(id);
    return found == ids_.end() ? nullptr : found->second.id.get();
}

bool rdma_connection_manager::next_event(cm_event& out) {
    for (;;) {
        rdma_cm_event* event = nullptr;
        if (rdma_get_cm_event(channel_.get(), &event) != 0) {
            if (errno == EINTR) continue;
            return false;
        }
        out = {};
        const bool known = take(*event, out);
        // Before anything is destroyed: rdma_destroy_id() waits for the events of its id.
        rdma_ack_cm_event(event);
        if (known) return true;
        // A request that nobody is told of; the id is ours since the event was taken.
        if (out.connection != cm_id::none) {
            if (auto* id = find(out.connection)) (void)rdma_reject(id, nullptr, 0);
            destroy(out.connection);
        }
    }
}

bool rdma_connection_manager::take(const rdma_cm_event& event, cm_event& out) {
    const auto what = translate(event);
    if (!what) return false;
    out = *what;
    if (what->kind == cm_event_kind::connect_request) return take_request(event, out);
    if (event.id == nullptr) return false;
    out.id = id_of(*event.id);
    return ids_.contains(out.id);
}

bool rdma_connection_manager::take_request(const rdma_cm_event& event, cm_event& out) {
    out.id = event.listen_id != nullptr ? id_of(*event.listen_id) : cm_id::none;
    out.connection = keep(event.id);
    auto& made = ids_[out.connection];
    made.reads_in = event.param.conn.responder_resources;
    made.reads_out = event.param.conn.initiator_depth;
    return ids_.contains(out.id) && is_ours(*event.id);
}

bool rdma_connection_manager::is_ours(const rdma_cm_id& id) const noexcept {
    return id.verbs != nullptr && core_->name() == ibv_get_device_name(id.verbs->device);
}

error_info rdma_connection_manager::create(cm_id& out) {
    rdma_cm_id* made = nullptr;
    if (rdma_create_id(channel_.get(), &made, nullptr, RDMA_PS_TCP) != 0) {
        const int number = errno;
        return failure(number, "rdma_create_id", core_->name(), without_module);
    }
    out = keep(made);
    auto& c = ids_[out];
    c.reads_in = core_->reads().responder;
    c.reads_out = core_->reads().initiator;
    return {};
}

error_info rdma_connection_manager::listen(const cm_endpoint& where, int backlog, cm_id& out) {
    cm_id made = cm_id::none;
    if (auto bad = create(made)) return bad;
    auto* id = find(made);
    // An IPv6 listener leaves the port to an IPv4 one, so that "[::]" and "0.0.0.0" can be had together.
    int only = where.address.is_v4_mapped() ? 0 : 1;
    auto address = address_of(where);
    int result = 0;
    std::string_view call = "rdma_set_option(AFONLY)";
    if (only != 0) result = rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &only, sizeof only);
    if (result == 0) {
        call = "rdma_bind_addr";
        result = rdma_bind_addr(id, &address.any);
    }
    if (result == 0) {
        call = "rdma_listen";
        result = rdma_listen(id, backlog);
    }
    if (result == 0) {
        out = made;
        return {};
    }
    const int number = errno;
    auto bad = failure(number, call, core_->name(),
                       "asked " + text_of(where) +
                           "; the address must be one of an interface that carries "
                           "RDMA, and the port free among rdma_cm's");
    if (number == ENODEV) bad.code = errc::address_not_available;
    destroy(made);
    return bad;
}

error_info rdma_connection_manager::resolve_address(cm_id id, const cm_endpoint& from, const cm_endpoint& to,
                                                    std::chrono::milliseconds limit) {
    auto* c = find(id);
    if (c == nullptr) return unknown();
    auto source = address_of(from);
    auto destination = address_of(to);
    if (rdma_resolve_addr(c, &source.any, &destination.any, milliseconds_of(limit)) == 0) return {};
    const int number = errno;
    auto bad = failure(number, "rdma_resolve_addr", core_->name(),
                       "asked " + text_of(to) + " from " + from.address.to_address_string());
    if (number == ENODEV) bad.code = errc::address_not_available;
    return bad;
}

error_info rdma_connection_manager::resolve_route(cm_id id, std::chrono::milliseconds limit) {
    auto* c = find(id);
    if (c == nullptr) return unknown();
    if (!is_ours(*c)) {
        return {errc::address_not_available,
                "the way to the peer does not lead through " + core_->name() +
                    (c->verbs != nullptr
                         ? std::string(" but through ") + ibv_get_device_name(c->verbs->device)
                         : std::string())};
    }
    return rdma_resolve_route(c, milliseconds_of(limit)) == 0 ? error_info{} : failed("rdma_resolve_route");
}

rdma_conn_param rdma_connection_manager::parameters(const connection& c,
                                                    const cm_offer& offer) const noexcept {
    const auto most = core_->reads();
    rdma_conn_param out{};
    out.private_data = offer.data.data();
    out.private_data_len = static_cast<std::uint8_t>(offer.data.size());
    out.responder_resources = std::min(c.reads_in, most.responder);
    out.initiator_depth = std::min(c.reads_out, most.initiator);
    out.flow_control = 1;
    out.retry_count = offer.retry_count;
    out.rnr_retry_count = offer.rnr_retry;
    out.qp_num = offer.queue_pair.value();
    return out;
}

error_info rdma_connection_manager::connect(cm_id id, const cm_offer& offer) {
    auto* c = find(id);
    if (c == nullptr) return unknown();
    if (offer.data.size() > cm_private_data::most_at_connect)
        return outside(errc::invalid_argument, "private data", core_->name(), offer.data.size(), 0,
                       cm_private_data::most_at_connect);
    auto how = parameters(ids_[id], offer);
    return rdma_connect(c, &how) == 0 ? error_info{} : failed("rdma_connect");
}

error_info rdma_connection_manager::establish(cm_id id) {
    auto* c = find(id);
    if (c == nullptr) return unknown();
    return rdma_establish(c) == 0 ? error_info{} : failed("rdma_establish");
}

error_info rdma_connection_manager::accept(cm_id id, const cm_offer& offer) {
    auto* c = find(id);
    if (c == nullptr) return unknown();
    if (offer.data.size() > cm_private_data::most_at_accept)
        return outside(errc::invalid_argument, "private data", core_->name(), offer.data.size(), 0,
                       cm_private_data::most_at_accept);
    auto how = parameters(ids_[id], offer);
    return rdma_accept(c, &how) == 0 ? error_info{} : failed("rdma_accept");
}

error_info rdma_connection_manager::reject(cm_id id, std::span<const std::byte> data) {
    auto* c = find(id);
    if (c == nullptr) return unknown();
    const auto size = static_cast<std::uint8_t>(std::min(data.size(), cm_private_data::most_at_reject));
    return rdma_reject(c, data.data(), size) == 0 ? error_info{} : failed("rdma_reject");
}

error_info rdma_connection_manager::disconnect(cm_id id) {
    auto* c = find(id);
    if (c == nullptr) return unknown();
    return rdma_disconnect(c) == 0 ? error_info{} : failed("rdma_disconnect");
}

error_info rdma_connection_manager::numbers(cm_id id, cm_numbers& out) {
    auto* c = find(id);
    if (c == nullptr) return unknown();
    ibv_qp_attr rtr{};
    ibv_qp_attr rts{};
    int mask = 0;
    rtr.qp_state = IBV_QPS_RTR;
    if (rdma_init_qp_attr(c, &rtr, &mask) != 0) return failed("rdma_init_qp_attr(RTR)");
    rts.qp_state = IBV_QPS_RTS;
    if (rdma_init_qp_attr(c, &rts, &mask) != 0) return failed("rdma_init_qp_attr(RTS)");
    out = numbers_of(rtr, rts);
    out.local_address = local_endpoint(id).address;
    out.reads_in = std::min(out.reads_in, core_->reads().responder);
    out.reads_out = std::min(out.reads_out, core_->reads().initiator);
    return {};
}

cm_endpoint rdma_connection_manager::local_endpoint(cm_id id) const {
    auto* c = find(id);
    if (c == nullptr) return {};
    auto out = endpoint_of(rdma_get_local_addr(c));
    out.port = ntohs(rdma_get_src_port(c));
    return out;
}

cm_endpoint rdma_connection_manager::peer_endpoint(cm_id id) const {
    auto* c = find(id);
    return c == nullptr ? cm_endpoint{} : endpoint_of(rdma_get_peer_addr(c));
}

void rdma_connection_manager::destroy(cm_id id) noexcept {
    ids_.erase(id);
}

} // namespace rocio::verbs
