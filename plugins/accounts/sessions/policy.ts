/** How long a session may live and be refreshed; durations in seconds. */
export interface SessionPolicy {
  accessTokenSeconds: number
  timeboxSeconds: number | undefined
  inactivitySeconds: number | undefined
  singlePerUser: boolean
  tags: readonly string[]
  rotation: boolean
  reuseIntervalSeconds: number
  reuseUntilUsed: boolean
}

type Why = 'not_after' | 'timebox' | 'inactivity'

/** Which limit the session has reached, if any; in the order in which clients are told. */
export function expiredBy(
  session: { session_created_at: Date | null; refreshed_at: Date | null; not_after: Date | null },
  policy: SessionPolicy,
  now: Date,
): Why | undefined {
  const openedAt = session.session_created_at ?? now
  const usedAt = session.refreshed_at ?? openedAt
  if (session.not_after && session.not_after <= now) return 'not_after'
  if (openedAt <= (cutoff(policy.timeboxSeconds, now) ?? new Date(0))) return 'timebox'
  if (usedAt <= (cutoff(policy.inactivitySeconds, now) ?? new Date(0))) return 'inactivity'
  return undefined
}

/** What happened at or before this is past the limit; null without a limit. */
export function cutoff(seconds: number | undefined, now: Date): Date | null {
  return seconds === undefined ? null : new Date(now.getTime() - seconds * 1000)
}

/** Which kind of session a client opens: what it says it is, when that is one of the configured kinds. */
export function tagOf({ tag }: { tag: string | null }, { tags }: SessionPolicy): string | null {
  return tags.find((known) => known === tag) ?? tags[0] ?? null
}
