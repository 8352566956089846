import { Rejected } from '../core/rejected.ts'
import type { Scenario } from '../core/scenario.ts'

/** One user’s row by id, from bench/floor-server.ts: the baseline of all other figures. */
export const floor: Scenario = {
  name: 'floor',
  async prepare(target) {
    const users = await target.call<{ id: string }[]>({ method: 'GET', path: '/users/' })
    if (users.length === 0) throw new Rejected('there is no user yet')
    return {
      request: (_i, connection) => ({
        method: 'GET',
        path: `/users/${users[connection % users.length]?.id}`,
      }),
    }
  },
}
