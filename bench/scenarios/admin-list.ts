import { people } from '../people.ts'
import type { Scenario } from '../scenario.ts'

const pageSize = 50

/** The first page of an admin's list of people. */
export const adminList: Scenario = {
  name: 'admin-list',
  async prepare(target) {
    const token = target.adminToken()
    await people(target, pageSize)
    return {
      request: () => ({ method: 'GET', path: `/admin/users?page=1&per_page=${pageSize}`, token }),
    }
  },
}
