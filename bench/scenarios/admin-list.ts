import type { Scenario } from '../core/scenario.ts'
import { users } from '../core/users.ts'

const pageSize = 50

/** The first page of an admin's list of users. */
export const adminList: Scenario = {
  name: 'admin-list',
  async prepare(target) {
    const token = target.adminToken()
    await users(target, pageSize)
    return {
      request: () => ({ method: 'GET', path: `/admin/users?page=1&per_page=${pageSize}`, token }),
    }
  },
}
