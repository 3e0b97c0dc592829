#pragma once

#include "fpga/register_script.hpp"

#include <rocio/fpga/slac_engine_config.hpp>
#include <rocio/fpga/slac_metadata.hpp>
#include <rocio/fpga/slac_session.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace rocio::fpga::detail {

/// What the texts of all SLAC programs are made of. Errors name the stage.
class slac_script : public register_script {
  protected:
    using milliseconds = std::chrono::milliseconds;
    using task = script_task<error_info>;

    struct read_result {
        error_info error{};
        std::uint32_t value = 0;
    };
    struct reply_result {
        error_info error{};
        bool timed_out = false;
        slac_reply reply{};
    };
    /// One request of the metadata bus.
    struct query {
        std::string stage;
        slac_request what;
        milliseconds deadline{};
        slac_session::open_request kind = slac_session::open_request::other;
        /// Of a transition: a reply that tells this state was meant for the one before.
        std::optional<std::uint32_t> state_before{};
    };

    slac_script(const slac_engine_config& config, std::shared_ptr<slac_session> session)
        : config_(config), session_(std::move(session)) {}

    std::uint32_t engine(std::uint32_t offset) const noexcept { return config_.engine_base + offset; }
    void enter(const std::string& stage);
    error_info at_stage(error_info e, const char* what, std::uint32_t address) const;

    task put(std::uint32_t address, std::uint32_t value);
    script_task<read_result> get(std::uint32_t address);
    /// Writes until the register has the value.
    task put_verified(std::uint32_t address, std::uint32_t value);
    task wait(milliseconds time);
    /// 1, then 0.
    task toggle(std::uint32_t address);
    /// Gives `taken` whether the board has the register and took the 1; an error only if it then does not
    /// take the 0.
    task pulse_soft_reset(bool& taken);

    script_task<reply_result> ask(query q);
    /// Waits for a request of a program that was dropped, or failed, before the reply: takes what it made
    /// into the session.
    task settle_open_request();
    /// Frees what the session has, in reverse; fails only if the registers cannot be reached.
    task clean_up();
    /// Switches the source off, as far as it was switched on.
    task stop_source();

    slac_engine_config config_;
    std::shared_ptr<slac_session> session_;
    std::string stage_ = "start";
    unsigned tries_ = 1; ///< Of each access.

  private:
    /// Lowers SendMetaData, with nothing in MetaDataTx that a late second start could do harm with.
    task retract();
    task send(const slac_request_words& words, slac_session::open_request kind);
    /// Sets `arrived`; without an error and without it the deadline passed.
    task await_reply(time_point until, bool& arrived, slac_reply& reply);
    task read_reply(slac_reply& reply);
    static bool answers(const query& q, const slac_reply& reply);
    void adopt(const slac_reply& reply);
    task undo(query q);
    task release_engine();
};

} // namespace rocio::fpga::detail
