/** Limits of user metadata. An access token contains both objects, so that both have to fit into it. */

/**
 * Bytes of JSON of user_metadata and app_metadata together. An access token has at most 16,384 characters, which are
 * 12,288 bytes: header, signature and the other claims take 2 KiB.
 */
const metadataBytesInToken = 10_240

interface Settings {
  AUTH_USER_METADATA_MAX_BYTES: number
  AUTH_HOOK_CUSTOM_ACCESS_TOKEN_ENABLED: boolean
}

/** Limits in bytes of JSON. With an access token hook the operator decides what metadata a token contains. */
export function metadataLimits({
  AUTH_USER_METADATA_MAX_BYTES: each,
  AUTH_HOOK_CUSTOM_ACCESS_TOKEN_ENABLED: isCustomized,
}: Settings) {
  return { each, together: isCustomized ? 2 * each : metadataBytesInToken }
}
