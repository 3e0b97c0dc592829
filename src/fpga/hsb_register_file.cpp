#include <rocio/fpga/hsb_register_file.hpp>

#include <algorithm>

namespace rocio::fpga {

namespace {

constexpr std::size_t bram_index(std::uint32_t address) noexcept {
    return (address - hsb::bram::base) / 4;
}

constexpr std::size_t sample_index(std::uint32_t address) noexcept {
    return (address - hsb::ila::data) / 4;
}

} // namespace

hsb_register_file::hsb_register_file(std::size_t limit)
    : limit_(limit), bram_(hsb::bram::size / 4), samples_(hsb::ila::size / 4) {
    registers_.reserve(std::min<std::size_t>(limit, 64));
}

std::uint32_t hsb_register_file::read(std::uint32_t address) const noexcept {
    if (!is_register(address)) return 0;
    if (hsb::bram::contains(address)) return bram_[bram_index(address)];
    if (hsb::ila::contains(address)) return samples_[sample_index(address)];
    const auto found = registers_.find(address);
    return found == registers_.end() ? 0 : found->second;
}

hsb_status hsb_register_file::write(std::uint32_t address, std::uint32_t value) {
    if (!is_register(address)) return hsb_status::invalid_address;
    if (hsb::bram::contains(address)) {
        bram_[bram_index(address)] = value;
    } else if (hsb::ila::contains(address)) {
        samples_[sample_index(address)] = value;
    } else if (const auto found = registers_.find(address); found != registers_.end()) {
        found->second = value;
    } else if (registers_.size() < limit_) {
        registers_.emplace(address, value);
    } else {
        return hsb_status::buffer_full;
    }
    return hsb_status::success;
}

std::vector<std::byte> hsb_register_file::windows(std::uint32_t windows, std::uint32_t window_bytes) const {
    const auto beats = windows * hsb::bram::cycles(window_bytes);
    std::vector<std::byte> out(std::size_t{beats} * hsb::bram::beat_bytes);
    std::size_t at = 0;
    for (std::uint32_t beat = 0; beat < beats; ++beat) {
        for (std::uint32_t bank = 0; bank < hsb::bram::banks; ++bank) {
            const auto word = bram_[bram_index(hsb::bram::address(bank, beat))];
            for (unsigned shift = 0; shift < 32; shift += 8)
                out[at++] = static_cast<std::byte>(word >> shift);
        }
    }
    return out;
}

void hsb_register_file::put_sample(std::uint32_t sample, const hsb::ila_sample& value) noexcept {
    const auto words = value.pack();
    for (std::uint32_t bank = 0; bank < hsb::ila::banks; ++bank)
        samples_[sample_index(hsb::ila::address(bank, sample))] = words[bank];
}

hsb::ila_sample hsb_register_file::sample(std::uint32_t sample) const noexcept {
    hsb::ila_sample::words words{};
    for (std::uint32_t bank = 0; bank < hsb::ila::banks; ++bank)
        words[bank] = samples_[sample_index(hsb::ila::address(bank, sample))];
    return hsb::ila_sample::unpack(words);
}

void hsb_register_file::clear_samples() noexcept {
    std::ranges::fill(samples_, 0U);
}

} // namespace rocio::fpga
