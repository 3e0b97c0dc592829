#include <rocio/rpc/detail/call_base.hpp>
#include <rocio/rpc/detail/deadline_heap.hpp>

namespace rocio::rpc::detail {

bool deadline_heap::before(std::size_t a, std::size_t b) const noexcept {
    return calls_[a]->deadline < calls_[b]->deadline;
}

void deadline_heap::put(call_base& call, std::size_t place) noexcept {
    calls_[place] = &call;
    call.heap_place = place;
}

void deadline_heap::insert(call_base& call) {
    calls_.push_back(&call);
    call.heap_place = calls_.size() - 1;
    rise(call.heap_place);
}

void deadline_heap::erase(call_base& call) noexcept {
    const std::size_t place = call.heap_place;
    if (place == call_base::in_no_heap) return;
    call.heap_place = call_base::in_no_heap;
    call_base* last = calls_.back();
    calls_.pop_back();
    if (last == &call) return;
    put(*last, place);
    rise(place);
    sink(last->heap_place);
}

void deadline_heap::rise(std::size_t place) noexcept {
    while (place > 0) {
        const std::size_t parent = (place - 1) / 2;
        if (!before(place, parent)) return;
        call_base& upper = *calls_[parent];
        put(*calls_[place], parent);
        put(upper, place);
        place = parent;
    }
}

void deadline_heap::sink(std::size_t place) noexcept {
    for (;;) {
        std::size_t child = 2 * place + 1;
        if (child >= calls_.size()) return;
        if (child + 1 < calls_.size() && before(child + 1, child)) ++child;
        if (!before(child, place)) return;
        call_base& upper = *calls_[place];
        put(*calls_[child], place);
        put(upper, child);
        place = child;
    }
}

} // namespace rocio::rpc::detail
