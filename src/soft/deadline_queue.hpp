#pragma once

#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

namespace rocio::soft {

/// What an object in a deadline_queue carries.
struct deadline_node {
    static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
    std::size_t place = nowhere;
};

/// A heap of objects by deadline. A deadline that moves away, as one does with every acknowledgement, is not
/// moved in the heap: the object comes up at its old time, once, and is then put back where it belongs. So
/// the usual update is a comparison.
template <class Node>
class deadline_queue {
  public:
    using time_point = std::chrono::steady_clock::time_point;

    /// Room for `nodes`, so that update() does not allocate.
    void reserve(std::size_t nodes) { heap_.reserve(nodes); }

    /// `deadline` is `node`'s next one; time_point::max(): none.
    void update(Node& node, time_point deadline) {
        if (node.place != Node::nowhere) {
            if (deadline >= node.deadline) return;
            node.deadline = deadline;
            rise(node.place);
        } else if (deadline != time_point::max()) {
            node.deadline = deadline;
            node.place = heap_.size();
            heap_.push_back(&node);
            rise(node.place);
        }
    }

    void erase(Node& node) noexcept {
        if (node.place == Node::nowhere) return;
        const std::size_t hole = node.place;
        node.place = Node::nowhere;
        Node* const last = heap_.back();
        heap_.pop_back();
        if (last == &node) return;
        put(hole, last);
        rise(hole);
        sink(last->place);
    }

    /// Takes the first node if it is due at `now`, else null. Call update() for it afterwards.
    Node* take_due(time_point now) noexcept {
        if (earliest() > now) return nullptr;
        Node* const first = heap_.front();
        erase(*first);
        return first;
    }

    time_point earliest() const noexcept {
        return heap_.empty() ? time_point::max() : heap_.front()->deadline;
    }
    std::size_t size() const noexcept { return heap_.size(); }

  private:
    void put(std::size_t place, Node* node) noexcept {
        heap_[place] = node;
        node->place = place;
    }
    void exchange(std::size_t a, std::size_t b) noexcept {
        Node* const x = heap_[a];
        put(a, heap_[b]);
        put(b, x);
    }
    void rise(std::size_t i) noexcept {
        for (; i != 0 && heap_[i]->deadline < heap_[(i - 1) / 2]->deadline; i = (i - 1) / 2)
            exchange(i, (i - 1) / 2);
    }
    void sink(std::size_t i) noexcept {
        for (;;) {
            std::size_t child = 2 * i + 1;
            if (child >= heap_.size()) return;
            if (child + 1 < heap_.size() && heap_[child + 1]->deadline < heap_[child]->deadline) ++child;
            if (heap_[i]->deadline <= heap_[child]->deadline) return;
            exchange(i, child);
            i = child;
        }
    }

    std::vector<Node*> heap_;
};

} // namespace rocio::soft
