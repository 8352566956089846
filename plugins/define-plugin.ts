/** Functions that define plugins: a name, dependencies, and a decorator or hooks. */
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'

/** This project's decorators, and those that every instance has. */
type Decorator = keyof FastifyInstance & string

/**
 * The declared dependencies and nothing else of the instance. Fastify's own methods (`addHook`, `register`) must be
 * called on the instance; they do not work when detached.
 */
export type Deps<DepNames extends Decorator> = Pick<FastifyInstance, DepNames>

interface Definition<Name extends Decorator, DepNames extends Decorator> {
  /** Name of the decorator; the plugin and its file or folder have the same name in kebab-case. */
  name: Name
  deps: readonly DepNames[]
  create: (deps: Deps<DepNames>) => FastifyInstance[Name] | Promise<FastifyInstance[Name]>
}

/**
 * Defines a plugin whose decorator is created from other decorators. A missing dependency stops the boot with its name;
 * an undeclared one does not compile.
 */
export function definePlugin<Name extends Decorator, DepNames extends Decorator = never>({
  name,
  deps,
  create,
}: Definition<Name, DepNames>): FastifyPluginAsync {
  return decoratorPlugin(name, deps, create)
}

/**
 * Defines the plugin of a domain module: it decorates the state that the module keeps between requests, which is created
 * after all platform plugins.
 */
export function defineModule<Name extends Decorator>(
  name: Name,
  create: (app: FastifyInstance) => FastifyInstance[Name] | Promise<FastifyInstance[Name]>,
): FastifyPluginAsync {
  return decoratorPlugin(name, [], create)
}

function decoratorPlugin(
  name: string,
  deps: readonly string[],
  create: (app: FastifyInstance) => unknown,
): FastifyPluginAsync {
  return fp(
    async (app) => {
      app.decorate<unknown, string>(name, await create(app))
    },
    { name: toKebabCase(name), fastify: '5.x', decorators: { fastify: [...deps] } },
  )
}

interface Extension<DepNames extends Decorator> {
  /** The file or folder has the same name. */
  name: string
  deps: readonly DepNames[]
  install: (deps: Deps<DepNames>) => void | Promise<void>
}

/**
 * Defines a plugin without a decorator: hooks, parsers, request decorators. Dependencies are checked in the same way.
 */
export function defineHooksPlugin<DepNames extends Decorator>({
  name,
  deps,
  install,
}: Extension<DepNames>): FastifyPluginAsync {
  return fp(
    async (fastify) => {
      await install(fastify)
    },
    { name, fastify: '5.x', decorators: { fastify: [...deps] } },
  )
}

function toKebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
