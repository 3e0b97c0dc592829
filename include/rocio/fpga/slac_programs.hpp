#pragma once

#include <rocio/fpga/register_program.hpp>
#include <rocio/fpga/slac_engine_config.hpp>
#include <rocio/fpga/slac_session.hpp>

#include <cstdint>
#include <memory>

namespace rocio::fpga {

// The procedures on a SLAC RoCEv2 engine's registers, for async_run() or a test. Each object runs once. The
// session must be used by one program at a time.

/// What the engine is told of the host. Members are wide, so that what does not fit is refused and not cut.
struct slac_host {
    std::uint64_t qpn = 0; ///< 24 bits.
    /// 24 bits. The FPGA's receive PSN; the original calls it host_rq_psn. Nothing is ever sent there.
    std::uint64_t fpga_rq_psn = 0;
    /// 24 bits. The PSN of the FPGA's first frame, so the host's receive PSN; the original calls it
    /// host_sq_psn.
    std::uint64_t fpga_sq_psn = 0;
    std::uint64_t region_address = 0;
    std::uint64_t region_length = 0; ///< Bytes, 32 bits.
};

/// What a set-up brought at the FPGA.
struct slac_connection {
    std::uint32_t fpga_qpn = 0;
    std::uint32_t lkey = 0;
    std::uint32_t pd_handler = 0;
    std::uint32_t rkey = 0;
    friend bool operator==(const slac_connection&, const slac_connection&) = default;
};

/// Numbers that the FPGA's keys are made of; any will do.
struct slac_keys {
    std::uint32_t pd_key = 0;
    std::uint32_t lkey_part = 0; ///< 31 bits.
    std::uint32_t rkey_part = 0; ///< 31 bits.
    static slac_keys random();
};

/// What of the host the data path is told.
struct slac_data_path {
    std::uint32_t host_qpn = 0;
    std::uint64_t region_length = 0;
    std::uint32_t max_payload = 0; ///< Bytes that fit a slot of the host.
};

namespace detail {
class register_script;
}

/// What the programs have in common: their text is compiled.
class slac_program : public register_program {
  public:
    ~slac_program() override;
    register_step next(time_point now) override;
    void on_result(const error_info& failure, std::uint32_t value, time_point now) override;
    error_info result() const override;

  protected:
    explicit slac_program(std::unique_ptr<detail::register_script> text);
    slac_program(const slac_program&) = delete;
    slac_program& operator=(const slac_program&) = delete;

  private:
    std::unique_ptr<detail::register_script> text_;
};

/// Makes the FPGA's end of the connection: SoftReset, protection domain, memory region, queue pair, INIT,
/// RTR, RTS (surf's setupConnection(): six requests). A failure undoes in reverse what was made, then pulses
/// SoftReset.
///
/// Errors, with the stage's name and what to do in the text: errc::invalid_argument and
/// errc::invalid_state before anything is sent; errc::refused_by_peer (an object is taken, or a transition
/// refused), errc::handshake_timed_out (a request without reply), errc::handshake_malformed (replies of
/// another kind, again and again), the bus's own codes.
class slac_setup final : public slac_program {
  public:
    slac_setup(const slac_engine_config& config, std::shared_ptr<slac_session> session, const slac_host& host,
               const slac_transport& transport, const slac_keys& keys = slac_keys::random());
};

/// Frees what the session has at the board: QP ERR, QP DESTROY, region, protection domain (surf's
/// teardownConnection(): four requests), then pulses SoftReset. Takes up what a set-up left that was dropped
/// half way. Without anything to free it does nothing. Refusals and missing replies are warnings; result()
/// fails only if the board's registers cannot be reached any more, with the bus's code.
class slac_teardown final : public slac_program {
  public:
    slac_teardown(const slac_engine_config& config, std::shared_ptr<slac_session> session);
};

/// Starts the data path: compares the host's slots with the largest frame, writes LKey, SQpn and
/// AddrWrapCount, clears the counters, sets DispatchEnable and, with a prbs_base, TxEn. Errors:
/// errc::invalid_state without a set-up, errc::geometry_mismatch, the bus's own codes; after one the source
/// is switched off again as far as the board answers.
class slac_arm final : public slac_program {
  public:
    slac_arm(const slac_engine_config& config, std::shared_ptr<slac_session> session,
             const slac_data_path& path);
};

/// Stops the data path: DispatchEnable 0, TxEn 0, a pause. Errors: the bus's own codes.
class slac_disarm final : public slac_program {
  public:
    slac_disarm(const slac_engine_config& config, std::shared_ptr<slac_session> session);
};

/// Reads the Core's counters and monitors into `out`, which is complete when result() has no error.
class slac_read_counters final : public slac_program {
  public:
    slac_read_counters(const slac_engine_config& config, std::shared_ptr<slac_engine_counters> out);
};

} // namespace rocio::fpga
