/** Whether changes arrive by themselves. Words say it too: a colour alone would not. */
import { useRealtimeStatus } from "@svc/react";

const words = {
  idle: ["Idle", "Nothing is being followed."],
  connecting: ["Connecting…", "Changes arrive by themselves in a moment."],
  live: ["Live", "Changes by all users arrive by themselves."],
  degraded: ["Reconnecting…", "Changes may arrive late."],
} as const;

export function StatusLight() {
  const status = useRealtimeStatus();
  const [word, explanation] = words[status];
  return (
    <span role="status" className="light" data-status={status} title={explanation}>
      {word}
    </span>
  );
}
