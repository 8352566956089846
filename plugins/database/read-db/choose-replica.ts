/** Chooses the replica for the next read, in rotation. */

interface Candidate {
  replayedAt(): number | undefined
}

/** Why the primary serves a read although there are replicas. */
export type FallbackReason = 'unavailable' | 'lagging' | 'own_write' | 'failed'

interface ChooserOptions<C> {
  replicas: readonly C[]
  maxLagMs: number
  onFallback: (reason: FallbackReason) => void
  now?: () => number
}

export function createChooser<C extends Candidate>(options: ChooserOptions<C>) {
  const { replicas, maxLagMs, onFallback, now = () => performance.now() } = options
  let lastWriteAt = Number.NEGATIVE_INFINITY
  let turn = 0

  return {
    /** From now on this process reads from replicas that contain everything acknowledged until now. */
    noteWrite(): void {
      lastWriteAt = now()
    },

    choose(): C | undefined {
      if (replicas.length === 0) return undefined
      const at = now()
      const fresh = replicas.filter((replica) => at - getReplayTime(replica) <= maxLagMs)
      const usable = fresh.filter((replica) => getReplayTime(replica) > lastWriteAt)
      turn += 1
      const chosen = usable[turn % usable.length]
      if (!chosen) onFallback(chooseReason(fresh.length > 0, replicas))
      return chosen
    },
  }
}

function chooseReason(isFresh: boolean, replicas: readonly Candidate[]): FallbackReason {
  if (isFresh) return 'own_write'
  return replicas.some((replica) => replica.replayedAt() !== undefined) ? 'lagging' : 'unavailable'
}

const getReplayTime = (replica: Candidate) => replica.replayedAt() ?? Number.NEGATIVE_INFINITY
