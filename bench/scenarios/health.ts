import type { Scenario } from '../core/scenario.ts'

/** No database, no token: the cost of the HTTP layer. */
export const health: Scenario = {
  name: 'health',
  async prepare() {
    return { request: () => ({ method: 'GET', path: '/health' }) }
  },
}
