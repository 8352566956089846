/** Organizations, and the tokens of their directories. */
import { Type } from '@sinclair/typebox'

import {
  commonSample,
  commonVariables,
  notificationKind,
  type SampleAddresses,
  sampleCode,
} from './definition.ts'

const token = '5f1c8d0e9b7a4632c1d0f8e7a6b59483'

export const organizationInvitation = {
  envSuffix: 'ORGANIZATION_INVITATION' as const,
  link: false,
  button: 'InvitationURL' as const,
  messageType: 'organization_invitation',
  variables: Type.Object({
    ...commonVariables,
    OrganizationName: Type.String(),
    /** The email of the member who sent it; empty for an admin of the server. */
    InvitedBy: Type.String(),
    Role: Type.String(),
    /** A page of the application, with the token. */
    InvitationURL: Type.String(),
    InvitationToken: Type.String(),
  }),
  sample: (addresses: SampleAddresses) => ({
    ...commonSample(addresses),
    OrganizationName: 'Analytical Engines',
    InvitedBy: 'charles.babbage@example.com',
    Role: 'member',
    InvitationURL: `${addresses.siteUrl.replace(/\/+$/, '')}/#organization_invitation=${token}`,
    InvitationToken: token,
  }),
}

export const organizationDomain = {
  envSuffix: 'ORGANIZATION_DOMAIN' as const,
  link: false,
  messageType: 'organization_domain',
  variables: Type.Object({
    ...commonVariables,
    OrganizationName: Type.String(),
    Domain: Type.String(),
    /** The code that verifies the domain. */
    Token: Type.String(),
  }),
  sample: (addresses: SampleAddresses) => ({
    ...commonSample(addresses),
    OrganizationName: 'Analytical Engines',
    Domain: 'example.com',
    Token: sampleCode,
  }),
}

export const organizationRole = notificationKind({
  event: 'ORGANIZATION_ROLE',
  details: { Account: Type.String(), OrganizationName: Type.String(), Role: Type.String() },
  sample: { Account: 'grace@example.org', OrganizationName: 'Acme', Role: 'admin' },
})

export const scimToken = notificationKind({
  event: 'SCIM_TOKEN',
  details: { TokenName: Type.String(), ConnectionName: Type.String() },
  sample: { TokenName: 'Entra ID', ConnectionName: 'Acme' },
})
