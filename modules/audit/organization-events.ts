/** Events of organizations: each action has the event of its name, with the traits that the event type lists. */
import type { FastifyInstance } from 'fastify'

import type { NewEvent } from '../../db/events/outbox.ts'
import type { MemberRow } from '../../db/organizations/members.ts'
import {
  type OrganizationEventType,
  organizationEventKinds,
} from '../../schemas/organizations/events.ts'
import type { AuditAction } from './actions.ts'

type Draft = FastifyInstance['events']['draft']

/** `user_id` of the traits is the user concerned, if there is one. */
export function createOrganizationEvents(
  draft: Draft,
  action: AuditAction,
  traits: Record<string, unknown>,
): NewEvent[] {
  const type = action.replace('_', '.')
  // A role of the server belongs to no organization.
  if (!isOrganizationEvent(type) || traits.organization_id === undefined) return []
  const names = Object.keys(organizationEventKinds[type].facts.properties)
  const facts = Object.fromEntries(names.map((name) => [name, String(traits[name])]))
  const userId = traits.user_id === undefined ? null : String(traits.user_id)
  return draft<OrganizationEventType>(type, userId, Object.assign({ organization_id: '' }, facts))
}

/** What entries and events about a member contain. */
export function memberTraits({ organization_id, user_id, role, status, joined_by }: MemberRow) {
  return { organization_id, user_id, role, status, joined_by }
}

function isOrganizationEvent(name: string): name is OrganizationEventType {
  return Object.hasOwn(organizationEventKinds, name)
}
