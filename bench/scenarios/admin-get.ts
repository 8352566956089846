import type { Scenario } from '../core/scenario.ts'
import { users } from '../core/users.ts'

/** One user by id, as a backend requests it; a different one on each connection. */
export const adminGet: Scenario = {
  name: 'admin-get',
  async prepare(target, { connections }) {
    const token = target.adminToken()
    const ids = (await users(target, connections)).map((user) => user.id)
    return {
      request: (_i, connection) => ({
        method: 'GET',
        path: `/admin/users/${ids[connection]}`,
        token,
      }),
    }
  },
}
