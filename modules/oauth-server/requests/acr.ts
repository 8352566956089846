/** The requested assurance level: `acr_values`, and `acr` in the claims parameter (OpenID Connect Core §5.5.1.1). */
import type { OauthRequestParameters } from '../../../db/tables/oauth-server.ts'
import { isRecord } from '../../../schemas/values/record.ts'

export const acrValues = ['aal1', 'aal2']

type Acr = Pick<OauthRequestParameters, 'acr_values' | 'requires_aal2'>

export function readAcr(acr: string | undefined, claims: Record<string, unknown>): Acr {
  const requested = acrClaim(claims)
  const values = requested?.values ?? acr?.split(' ').filter(Boolean) ?? []
  // In order of preference; unknown values are ignored.
  const preferred = values.find((value) => acrValues.includes(value))
  return {
    ...(preferred && { acr_values: preferred }),
    ...(requested?.essential && preferred === 'aal2' && { requires_aal2: true }),
  }
}

function acrClaim({ id_token: idToken }: Record<string, unknown>) {
  if (!isRecord(idToken) || !isRecord(idToken.acr)) return undefined
  const { essential, value, values } = idToken.acr
  const listed: unknown[] = Array.isArray(values) ? values : [value]
  return {
    essential: essential === true,
    values: listed.filter((each) => typeof each === 'string'),
  }
}
