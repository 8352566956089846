import { Type } from '@sinclair/typebox'

import { commonVariables } from './definition.ts'
import { commonSample, type SampleAddresses, sampleCode } from './sample.ts'

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
