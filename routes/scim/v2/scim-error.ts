/** Errors in the form of RFC 7644 §3.12. */
import type { ApiError } from '../../../schemas/errors.ts'

export const scimMediaType = 'application/scim+json; charset=utf-8'

const errorSchema = 'urn:ietf:params:scim:api:messages:2.0:Error'

export function toScimError(error: ApiError) {
  const { status, scimType } = toScimType(error)
  const { retryAfter } = error.details
  return {
    status,
    headers: {
      'cache-control': 'no-store',
      ...(status === 401 && { 'www-authenticate': 'Bearer' }),
      ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    },
    body: {
      schemas: [errorSchema],
      status: String(status),
      ...(scimType && { scimType }),
      detail: error.message,
    },
  }
}

/** SCIM clients expect a conflict or an invalid value, not 422. */
function toScimType({ status, errorCode, details }: ApiError): {
  status: number
  scimType?: string
} {
  if (errorCode === 'last_owner') return { status: 409, scimType: 'mutability' }
  const isInvalid = status === 422 || (status === 400 && errorCode === 'validation_failed')
  if (isInvalid) return { status: 400, scimType: 'invalidValue' }
  return details.scimType ? { status, scimType: details.scimType } : { status }
}
