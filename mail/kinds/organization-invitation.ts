import { Type } from '@sinclair/typebox'

import { commonVariables } from './definition.ts'
import { commonSample, type SampleAddresses } from './sample.ts'

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
