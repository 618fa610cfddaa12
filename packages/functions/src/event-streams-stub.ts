// Replaces the SDK's event streams in bundles (15 KB): no command of ours sends or receives one.

export const resolveEventStreamSerdeConfig = <C>(config: C): C => config;

export const eventStreamSerdeProvider = (): never => {
  throw new Error("No command of ours streams events.");
};

export const EventStreamSerde = eventStreamSerdeProvider;
