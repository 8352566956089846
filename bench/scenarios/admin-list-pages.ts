import type { Scenario } from '../core/scenario.ts'
import { bulkUsers } from '../core/users.ts'

const pageSize = 50

/** A page of the admin list that no other connection requests at the time. */
export const adminListPages: Scenario = {
  name: 'admin-list-pages',
  async prepare(target, { connections }) {
    const token = target.adminToken()
    await bulkUsers(target, connections * pageSize)
    return {
      request: (_i, connection) => ({
        method: 'GET',
        path: `/admin/users?page=${connection + 1}&per_page=${pageSize}`,
        token,
      }),
    }
  },
}
