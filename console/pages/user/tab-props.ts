import type { User } from '../../../schemas/user.ts'
import type { Resource } from '../../core/resource.ts'

/** The props of each tab of a user. */
export interface TabProps {
  user: User
  of: Resource<User>
}
