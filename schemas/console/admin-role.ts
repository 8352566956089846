/** Admin roles: each includes the permissions of the previous ones. */
import { StringEnum } from '../values/choices.ts'

export const adminRoleNames = ['support', 'operator', 'owner'] as const

export type AdminRole = (typeof adminRoleNames)[number]

export const AdminRole = StringEnum(adminRoleNames, {
  description:
    'support reads; operator also changes users, email, webhooks and clients; owner also changes admins, keys, providers and settings',
})

/** Whether a role includes the permissions of another. */
export function includesRole(role: AdminRole, minimum: AdminRole): boolean {
  return adminRoleNames.indexOf(role) >= adminRoleNames.indexOf(minimum)
}
