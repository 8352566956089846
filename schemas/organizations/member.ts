/** Members and invitations. */
import { type Static, Type } from '@sinclair/typebox'

import { nullable } from '../values/choices.ts'
import { Timestamp, toTimestamp } from '../values/timestamp.ts'
import { Next } from './list.ts'

const Id = Type.String({ format: 'uuid' })
const Text = Type.String()

export const RoleField = Type.String({ description: 'The name of a role of the organization' })

export const Member = Type.Object(
  {
    user_id: Id,
    email: Text,
    phone: Text,
    name: nullable(Text),
    role: Text,
    status: Type.String({ description: '`active`, or `suspended` by provisioning' }),
    joined_by: Text,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'OrganizationMember' },
)

export const Members = Type.Object({ members: Type.Array(Member), next: Next })

interface MemberSource {
  user_id: string
  email: string | null
  phone: string | null
  raw_user_meta_data: Record<string, unknown> | null
  role: string
  status: string
  joined_by: string
  created_at: Date
  updated_at: Date
}

export function toMember(row: MemberSource): Static<typeof Member> {
  const { user_id, role, status, joined_by, raw_user_meta_data: metadata } = row
  const name = metadata?.full_name ?? metadata?.name
  return {
    user_id,
    role,
    status,
    joined_by,
    email: row.email ?? '',
    phone: row.phone ?? '',
    name: typeof name === 'string' ? name : null,
    created_at: toTimestamp(row.created_at),
    updated_at: toTimestamp(row.updated_at),
  }
}

export const Invitation = Type.Object(
  {
    id: Id,
    email: Text,
    role: Text,
    invited_by: nullable(Id),
    created_at: Timestamp,
    expires_at: Timestamp,
  },
  { title: 'OrganizationInvitation' },
)

export const Invitations = Type.Object({ invitations: Type.Array(Invitation), next: Next })

interface InvitationSource {
  id: string
  email: string
  role: string
  invited_by: string | null
  created_at: Date
  expires_at: Date
}

export function toInvitation(row: InvitationSource): Static<typeof Invitation> {
  const { id, email, role, invited_by, created_at, expires_at } = row
  const times = { created_at: toTimestamp(created_at), expires_at: toTimestamp(expires_at) }
  return { id, email, role, invited_by, ...times }
}

const Named = Type.Object({ id: Id, slug: Text, name: Text })

/** An invitation as the invited user sees it. */
const ReceivedInvitation = Type.Object(
  { id: Id, organization: Named, role: Text, created_at: Timestamp, expires_at: Timestamp },
  { title: 'ReceivedInvitation' },
)

export const ReceivedInvitations = Type.Object({ invitations: Type.Array(ReceivedInvitation) })

export function toReceivedInvitation(
  row: InvitationSource & { organization_id: string; slug: string; name: string },
): Static<typeof ReceivedInvitation> {
  const { id, role, created_at, expires_at, organization_id, slug, name } = row
  const times = { created_at: toTimestamp(created_at), expires_at: toTimestamp(expires_at) }
  return { id, role, ...times, organization: { id: organization_id, slug, name } }
}

/** Organizations that a user may join by the domain of their address. */
export const Suggestions = Type.Object({ organizations: Type.Array(Named) })
