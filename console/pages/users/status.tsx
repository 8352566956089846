/** The state of an account. */
import type { AdminUser } from '../../../schemas/admin-user.ts'
import type { User } from '../../../schemas/user.ts'
import { Badge, type Tone } from '../../parts/text.tsx'

interface Status {
  text: string
  tone: Tone
}

export function getStatus(user: AdminUser, now = Date.now()): Status {
  if (user.deleted_at) return { text: 'Deleted', tone: 'bad' }
  if (user.banned_until && new Date(user.banned_until).getTime() > now) {
    return { text: 'Banned', tone: 'bad' }
  }
  if (user.deactivated_at) return { text: 'Deactivated', tone: 'bad' }
  if (user.is_anonymous) return { text: 'Anonymous', tone: 'plain' }
  if (user.confirmed_at) return { text: 'Confirmed', tone: 'good' }
  if (user.invited_at) return { text: 'Invited', tone: 'link' }
  return { text: 'Unconfirmed', tone: 'warn' }
}

export function UserStatus({ user }: { user: AdminUser }) {
  const { text, tone } = getStatus(user)
  return <Badge tone={tone}>{text}</Badge>
}

/** A user's name on a single line. */
export function getUserName(user: Pick<User, 'email' | 'phone' | 'id'>): string {
  if (user.email) return user.email
  return user.phone ? `+${user.phone}` : user.id
}

export function getProviders({ app_metadata }: User): string[] {
  const { providers } = app_metadata
  return Array.isArray(providers) ? providers.map(String) : []
}

/** The name from a provider or the sign-up form. */
export function getFullName({ user_metadata }: User): string {
  const { full_name, name } = user_metadata
  const known = typeof full_name === 'string' ? full_name : name
  return typeof known === 'string' ? known : ''
}
