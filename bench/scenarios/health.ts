import type { Scenario } from '../scenario.ts'

/** No database, no token: what the HTTP layer itself costs. */
export const health: Scenario = {
  name: 'health',
  async prepare() {
    return { request: () => ({ method: 'GET', path: '/health' }) }
  },
}
