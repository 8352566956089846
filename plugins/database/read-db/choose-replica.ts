/** Which replica serves the next read, by turns. */

export interface Candidate {
  freshAsOf(): number | undefined
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
      const fresh = replicas.filter((replica) => at - freshAsOf(replica) <= maxLagMs)
      const usable = fresh.filter((replica) => freshAsOf(replica) > lastWriteAt)
      turn += 1
      const chosen = usable[turn % usable.length]
      if (!chosen) onFallback(reasonOf(fresh.length > 0, replicas))
      return chosen
    },
  }
}

function reasonOf(isFresh: boolean, replicas: readonly Candidate[]): FallbackReason {
  if (isFresh) return 'own_write'
  return replicas.some((replica) => replica.freshAsOf() !== undefined) ? 'lagging' : 'unavailable'
}

const freshAsOf = (replica: Candidate) => replica.freshAsOf() ?? Number.NEGATIVE_INFINITY
