#pragma once

#include "test_packet.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace rocio::test {

/// The simplest peer that keeps the rules of a reliable connection, written apart from the library: one
/// request packet at a time, every packet acknowledged. It watches a script up to the lost packet and carries
/// the connection on from there. `index` counts from the first PSN of its direction, as in test_packet.
class model_peer {
  public:
    explicit model_peer(std::uint32_t path_mtu) : path_mtu_(path_mtu) {}

    /// Its memory, for READs of the subject: the byte at address a is byte a of this message.
    static constexpr std::uint32_t memory_seed = 777;

    // ---- What the script will have it say, in order
    void will_say(const test_packet& p);
    /// It sends nothing at all.
    void is_dead() { dead_ = true; }

    // ---- Watching the script
    void saw(const test_packet& from_subject);
    /// The script had it send `p`; `arrived`: the subject got it.
    void said(const test_packet& p, bool arrived);

    // ---- Carrying on alone
    /// A request that the script would have sent later.
    void will_request(const test_packet& p);
    std::vector<test_packet> answer_to(const test_packet& from_subject);
    /// Its timer ran out: the oldest unacknowledged request again, or nothing.
    std::vector<test_packet> repeat();
    bool has_requests() const { return !dead_ && tries_left_ > 0 && acknowledged_ < requests_end(); }

    /// The messages it took, each as its bytes; "broken" for one whose packets do not fit together.
    std::vector<std::vector<std::byte>> messages() const;

  private:
    std::uint32_t requests_end() const { return requests_.empty() ? 0 : requests_.rbegin()->first + 1; }
    void on_answer(const test_packet& p);
    std::vector<test_packet> next_request();
    std::uint32_t msn() const;

    bool takes(std::uint32_t index);
    std::uint32_t psns_of(const test_packet& p) const;
    std::vector<test_packet> read_from_memory(const test_packet& request) const;

    std::uint32_t path_mtu_;

    // As responder.
    std::map<std::uint32_t, test_packet> seen_;
    std::uint32_t expected_ = 0; ///< All before are taken.
    std::uint32_t acked_by_plan_ = 0;
    std::uint32_t acked_ = 0;
    std::map<std::uint32_t, wire::aeth> refusals_;
    std::map<std::uint32_t, std::vector<wire::aeth>> not_ready_;
    bool told_gap_ = false;
    bool dead_ = false;

    // As requester.
    std::map<std::uint32_t, test_packet> requests_;
    std::uint32_t acknowledged_ = 0;
    int tries_left_ = 20;
};

} // namespace rocio::test
