// Replaces the SDK's event streams in bundles (15 KB): our commands send and receive no event stream.

export const resolveEventStreamSerdeConfig = <C>(config: C): C => config;

export const eventStreamSerdeProvider = (): never => {
  throw new Error("No command of ours streams events.");
};

export const EventStreamSerde = eventStreamSerdeProvider;
