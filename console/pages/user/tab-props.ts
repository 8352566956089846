import type { AdminUser } from '../../../schemas/admin-user.ts'
import type { Resource } from '../../core/resource.ts'

/** The props of each tab of a user. */
export interface TabProps {
  user: AdminUser
  of: Resource<AdminUser>
}
