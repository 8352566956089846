import { people } from '../people.ts'
import type { Scenario } from '../scenario.ts'

/** One person by id, as a backend asks for them; another one on every connection. */
export const adminGet: Scenario = {
  name: 'admin-get',
  async prepare(target, { connections }) {
    const token = target.adminToken()
    const ids = (await people(target, connections)).map((person) => person.id)
    return {
      request: (_i, connection) => ({
        method: 'GET',
        path: `/admin/users/${ids[connection]}`,
        token,
      }),
    }
  },
}
