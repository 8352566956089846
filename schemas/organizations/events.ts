/** Event types of organizations. */
import { type TProperties, Type } from '@sinclair/typebox'

const Text = Type.String()
const Id = Type.String({ format: 'uuid' })

const organization = { organization_id: Id }
const member = { ...organization, role: Text, joined_by: Text, status: Text }
const invitation = { ...organization, invitation_id: Id, email: Text, role: Text }
const role = { ...organization, role: Text }
const domain = { ...organization, domain: Text }
const connection = { ...organization, connection_id: Id }
const group = { ...organization, group_id: Id, name: Text }

function kind<Facts extends TProperties>(description: string, facts: Facts) {
  return { description, facts: Type.Object(facts), withUser: false }
}

export const organizationEventKinds = {
  'organization.created': kind('Organization created', { ...organization, slug: Text, name: Text }),
  'organization.updated': kind(
    'Name, slug, metadata or joining of an organization changed',
    organization,
  ),
  'organization.deleted': kind('Organization deleted', organization),
  'organization.restored': kind('Deletion of an organization undone by an admin', organization),
  'organization.activated': kind('Active organization of a session changed', {
    ...organization,
    session_id: Id,
  }),
  'organization.member_added': kind('User became a member', member),
  'organization.member_updated': kind('Role or status of a member changed', member),
  'organization.member_removed': kind('Member left or was removed', member),
  'organization.invitation_created': kind('User invited to an organization', invitation),
  'organization.invitation_revoked': kind('Invitation revoked', invitation),
  'organization.invitation_accepted': kind('Invitation accepted', invitation),
  'organization.invitation_declined': kind('Invitation declined', invitation),
  'organization.role_created': kind('Custom role created', role),
  'organization.role_updated': kind('Permissions of a custom role changed', role),
  'organization.role_deleted': kind('Custom role deleted', role),
  'organization.domain_added': kind('Domain claimed by an organization', domain),
  'organization.domain_verified': kind('Domain of an organization verified', domain),
  'organization.domain_removed': kind('Domain removed from an organization', domain),
  'organization.connection_created': kind('Provider bound to an organization', connection),
  'organization.connection_updated': kind('Connection of an organization changed', connection),
  'organization.connection_deleted': kind('Provider unbound from an organization', connection),
  'organization.group_created': kind('Group created', group),
  'organization.group_updated': kind('Group changed, or its members', group),
  'organization.group_deleted': kind('Group deleted', group),
} as const

export type OrganizationEventType = keyof typeof organizationEventKinds
