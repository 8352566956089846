/** Routes for admins of the server. Those of one organization are registered below its path. */
import connections from './connections.ts'
import lifecycle from './lifecycle.ts'
import list from './list.ts'
import members from './members.ts'
import { addServerRoles, changeServerRoles } from './roles.ts'

export const organizationAdminRoutes = {
  organizationList: list,
  lifecycle,
  addServerRoles,
  changeServerRoles,
}
export const adminScopedRoutes = { addMember: members, addConnection: connections }
