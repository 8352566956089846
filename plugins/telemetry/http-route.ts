/** The matched route in the form of the OpenAPI document: `/admin/users/{user_id}`. */
export function routePattern(url: string | undefined): string | undefined {
  return url?.replace(/:(\w+)(\([^)]*\))?/g, '{$1}')
}
