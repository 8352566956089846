import { Type } from '@sinclair/typebox'

import {
  booleanField,
  choicesField,
  duration,
  group,
  integerField,
  listField,
} from '../core/fields.ts'
import { rate } from '../core/values.ts'

const organizationClaims = ['org_id', 'org_slug', 'org_role', 'org_permissions'] as const

export const organizations = group('Organizations', {
  AUTH_ORGANIZATIONS_ENABLED: booleanField(
    'Enables organizations: members with roles, invitations, domains, and the organization in access tokens.',
    false,
  ),
  AUTH_ORGANIZATIONS_USER_CREATION_ENABLED: booleanField(
    'Users may create organizations. Otherwise only admins do.',
    true,
  ),
  AUTH_ORGANIZATIONS_CLAIMS: choicesField(
    'Claims of the active organization in access tokens. With more than 32 permissions, `org_permissions` is left out.',
    organizationClaims,
    { default: [...organizationClaims] },
  ),
  AUTH_ORGANIZATIONS_MAX_PER_USER: integerField(
    'Maximum number of organizations of a user. 0 means no limit.',
    { default: 100 },
  ),
  AUTH_ORGANIZATIONS_MAX_MEMBERS: integerField(
    'Maximum number of members of an organization. 0 means no limit.',
    { default: 0 },
  ),
  AUTH_ORGANIZATIONS_MAX_DOMAINS: integerField(
    'Maximum number of domains of an organization. 0 means no limit.',
    { default: 20 },
  ),
  AUTH_ORGANIZATIONS_ALLOWED_DOMAINS: listField(
    'Domains that organizations may add although the list of mail providers has them. Public suffixes are never allowed.',
    { default: [] },
  ),
  AUTH_ORGANIZATIONS_INVITATION_EXP: duration('How long an invitation can be accepted.', {
    default: '168h',
    exclusiveMinimum: 0,
  }),
  AUTH_RATE_LIMIT_ORGANIZATION_INVITATIONS: rate(
    'Maximum number of invitations and of codes for domains that an organization, and that a member of any organizations, sends an hour, or in another period, such as `5/10m`. They also count in `AUTH_RATE_LIMIT_EMAIL_SENT`, and one address gets ten a day from all organizations. Emails sent by admins count for the organization only.',
    { default: { count: 100, seconds: 3600 }, 'x-default-text': '100' },
  ),
  AUTH_ORGANIZATIONS_DNS_SERVERS: Type.Optional(
    Type.Array(Type.String(), {
      'x-type': 'list',
      description:
        'Addresses of the DNS servers that are queried for the TXT records of domains, such as `10.0.0.2` or `10.0.0.2:5353`. Without it, those of the system.',
    }),
  ),
})
