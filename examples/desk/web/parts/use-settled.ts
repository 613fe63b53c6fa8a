/** A value once it has stopped changing: one question per burst of keys. */
import { useEffect, useState } from "react";

/** @param wait in milliseconds */
export function useSettled<T>(value: T, wait = 200): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), wait);
    return () => clearTimeout(timer);
  }, [value, wait]);
  return settled;
}
