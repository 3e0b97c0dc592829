#include <rocio/rpc/function_table.hpp>

#include <algorithm>
#include <bit>

namespace rocio::rpc {

namespace {

[[noreturn]] void refuse_function(std::string_view name, const std::string& why) {
    throw exception({rocio::errc::invalid_argument, "function \"" + std::string(name) + "\": " + why});
}

} // namespace

function_table::function_table() = default;
function_table::~function_table() = default;
function_table::function_table(function_table&&) noexcept = default;
function_table& function_table::operator=(function_table&&) noexcept = default;

function_table& function_table::insert(std::unique_ptr<detail::function_entry> entry) {
    const auto& name = entry->name();
    if (name.empty()) refuse_function(name, "the name is empty; give it the name that callers use");
    if (const auto* other = find(entry->id())) {
        refuse_function(name, other->name() == name
                                  ? "the table has it already"
                                  : "its id is that of \"" + other->name() + "\"; rename one of them");
    }
    if (entry->schema()) {
        if (const auto bad = validate(*entry->schema())) refuse_function(name, bad.text);
    }
    entries_.push_back(std::move(entry));
    try {
        rebuild();
    } catch (...) {
        entries_.pop_back();
        throw;
    }
    return *this;
}

void function_table::require_same(std::string_view name, const handler_schema& agreed,
                                  const handler_schema& own) {
    if (const auto bad = compare(agreed, own)) refuse_function(name, bad.text);
}

void function_table::rebuild() {
    std::vector<detail::function_entry*> places(std::bit_ceil(2 * entries_.size()), nullptr);
    for (const auto& entry : entries_) {
        std::size_t at = entry->id().value() & (places.size() - 1);
        while (places[at]) at = (at + 1) & (places.size() - 1);
        places[at] = entry.get();
    }
    places_ = std::move(places);
}

detail::function_entry* function_table::find(function_id id) const noexcept {
    if (places_.empty()) return nullptr;
    const std::size_t mask = places_.size() - 1;
    for (std::size_t at = id.value() & mask; places_[at]; at = (at + 1) & mask) {
        if (places_[at]->id() == id) return places_[at];
    }
    return nullptr;
}

bool function_table::hands_over() const noexcept {
    return std::ranges::any_of(entries_, [](const auto& e) { return static_cast<bool>(e->executor()); });
}

std::optional<handler_schema> function_table::schema(function_id id) const {
    const auto* entry = find(id);
    return entry ? entry->schema() : std::nullopt;
}

std::vector<function_snapshot> function_table::snapshot() const {
    std::vector<function_snapshot> all;
    all.reserve(entries_.size());
    for (const auto& entry : entries_) all.push_back(entry->snapshot());
    return all;
}

} // namespace rocio::rpc
