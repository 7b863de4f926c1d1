/** A small observable store. A component subscribes to a part of the value and renders only when that part changes. */
import { useSyncExternalStore } from 'react';

export interface Store<T> {
  readonly get: () => T;
  readonly set: (next: T) => void;
  readonly subscribe: (listener: () => void) => () => void;
}

export function createStore<T>(initial: T): Store<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set: (next) => {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of [...listeners]) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The part of the store's value that `select` returns. `select` must return the same object for the same value. */
export function useStore<T, P>(store: Store<T>, select: (value: T) => P): P {
  return useSyncExternalStore(store.subscribe, () => select(store.get()));
}
