/** Discovery documents. */
import { type Static, Type } from '@sinclair/typebox'

const { Optional } = Type
const Text = Type.String()
const Words = Type.Array(Text)

/** OpenID Connect Discovery 1.0 §3, RFC 8414 §2. */
export const ServerMetadata = Type.Object(
  {
    issuer: Text,
    authorization_endpoint: Text,
    token_endpoint: Text,
    jwks_uri: Text,
    userinfo_endpoint: Text,
    revocation_endpoint: Text,
    introspection_endpoint: Text,
    pushed_authorization_request_endpoint: Text,
    device_authorization_endpoint: Text,
    end_session_endpoint: Text,
    registration_endpoint: Optional(Text),
    scopes_supported: Words,
    response_types_supported: Words,
    response_modes_supported: Words,
    grant_types_supported: Words,
    subject_types_supported: Words,
    id_token_signing_alg_values_supported: Words,
    acr_values_supported: Words,
    prompt_values_supported: Words,
    token_endpoint_auth_methods_supported: Words,
    token_endpoint_auth_signing_alg_values_supported: Words,
    revocation_endpoint_auth_methods_supported: Words,
    introspection_endpoint_auth_methods_supported: Words,
    claims_supported: Words,
    code_challenge_methods_supported: Words,
    claims_parameter_supported: Type.Boolean(),
    request_parameter_supported: Type.Boolean(),
    request_uri_parameter_supported: Type.Boolean(),
    require_pushed_authorization_requests: Type.Boolean(),
    authorization_response_iss_parameter_supported: Type.Boolean(),
    client_id_metadata_document_supported: Type.Boolean(),
  },
  { title: 'ServerMetadata' },
)
export type ServerMetadata = Static<typeof ServerMetadata>
