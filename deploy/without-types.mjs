/** Loaded first (`node --import`) after strip-types.ts has run: files named .ts contain JavaScript then. */
import { registerHooks } from 'node:module'

registerHooks({
  load: (url, context, nextLoad) =>
    nextLoad(url, url.endsWith('.ts') ? { ...context, format: 'module' } : context),
})
