import { peopleInBulk } from '../people.ts'
import type { Scenario } from '../scenario.ts'

const pageSize = 50

/** A page of an admin's list that nobody else asks for at the time: another one on every connection. */
export const adminListPages: Scenario = {
  name: 'admin-list-pages',
  async prepare(target, { connections }) {
    const token = target.adminToken()
    await peopleInBulk(target, connections * pageSize)
    return {
      request: (_i, connection) => ({
        method: 'GET',
        path: `/admin/users?page=${connection + 1}&per_page=${pageSize}`,
        token,
      }),
    }
  },
}
