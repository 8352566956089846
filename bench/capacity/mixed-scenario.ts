/** Several scenarios concurrently, as the users of an application send them. */
import type { Load, Scenario } from '../core/scenario.ts'

/** Every connection sends the scenarios in this order, repeatedly, each starting at another position. */
export function mixedScenario(order: readonly Scenario[]): Scenario {
  return {
    name: 'mixed',
    async prepare(target, plan) {
      const loads = new Map<Scenario, Load>()
      for (const scenario of new Set(order)) {
        loads.set(scenario, await scenario.prepare(target, plan))
      }
      const sent = new Map<number, Load>()
      const loadAt = (i: number) => {
        const scenario = order[i % order.length]
        const load = scenario && loads.get(scenario)
        if (!load) throw new Error('the order is empty')
        return load
      }
      return {
        request(i, connection) {
          const load = loadAt(i)
          sent.set(connection, load)
          return load.request(i, connection)
        },
        answered: (body, connection) => sent.get(connection)?.answered?.(body, connection),
      }
    },
  }
}

/** What a user does in a day of docs/sizing.md: 50 reads, 8 refreshes and a sign-in, spread evenly. */
export function buildDay<T>({
  read,
  refresh,
  signIn,
}: Record<'read' | 'refresh' | 'signIn', T>): T[] {
  const rest = Array.from({ length: 8 }, () => [...Array.from({ length: 6 }, () => read), refresh])
  return [...rest.flat(), read, read, signIn]
}
