// Processes that build a graph in parts, as threads.
#pragma once
#include <tidegate/graph/rows.hpp>

#include <barrier>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <thread>
#include <vector>

namespace tidegate::test {

// Calls build for each part, whose options have the exchange, at the same time.
inline void in_parts(graphs::BuildOptions options,
                     const std::function<void(const graphs::BuildOptions&)>& build) {
  std::barrier all(options.parts);
  std::vector<std::vector<std::uint64_t>> numbers(options.parts);
  std::vector<graphs::PartExchange::Parcels> parcels(options.parts);
  std::vector<std::jthread> threads;
  for (std::uint32_t part = 0; part < options.parts; ++part) {
    threads.emplace_back([&, options, part]() mutable {
      const graphs::PartExchange exchange{
          .add_up =
              [&, part](std::span<std::uint64_t> own) {
                numbers[part].assign(own.begin(), own.end());
                all.arrive_and_wait();
                for (std::size_t i = 0; i < own.size(); ++i) {
                  own[i] = std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0},
                                           [i](std::uint64_t sum, const auto& of) { return sum + of[i]; });
                }
                all.arrive_and_wait();
                return Result<void>();
              },
          .exchange = [&, part](graphs::PartExchange::Parcels sent) -> Result<graphs::PartExchange::Parcels> {
            parcels[part] = std::move(sent);
            all.arrive_and_wait();
            graphs::PartExchange::Parcels received;
            for (const graphs::PartExchange::Parcels& of : parcels) {
              received.push_back(of[part]);
            }
            all.arrive_and_wait();
            return received;
          }};
      options.part = part;
      options.exchange = &exchange;
      build(options);
    });
  }
}

} // namespace tidegate::test
