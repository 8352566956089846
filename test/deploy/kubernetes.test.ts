/** deploy/kubernetes: each object by the schemas of Kubernetes, and all of them by what they say of each other. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'

import {
  type IPodMonitor,
  PodMonitor,
} from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1'
import { Deployment, type IDeployment } from 'kubernetes-models/apps/v1'
import { type IPodDisruptionBudget, PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { ConfigMap, type IConfigMap, type IService, Service } from 'kubernetes-models/v1'
import { parse } from 'yaml'

import { variables } from '../../plugins/config/config.ts'
import { readConfig } from '../../plugins/config/read-config.ts'

const root = join(import.meta.dirname, '../..')
const folder = join(root, 'deploy/kubernetes')
const read = (file: string) => parse(readFileSync(join(folder, file), 'utf8'))

const deployment: IDeployment = read('deployment.yaml')
const service: IService = read('service.yaml')
const budget: IPodDisruptionBudget = read('pod-disruption-budget.yaml')
const monitor: IPodMonitor = read('pod-monitor.yaml')
const settings: IConfigMap = read('settings.yaml')

/** What is not in the ConfigMap: docs/deploying.md has it made as a Secret. */
const secrets = {
  DATABASE_URL: 'postgres://postern:x@postgres:5432/postgres',
  AUTH_JWT_SECRET: randomBytes(32).toString('base64url'),
  AUTH_ENCRYPTION_KEY: randomBytes(32).toString('base64url'),
}

const objects = {
  'deployment.yaml': { model: new Deployment(deployment), type: 'IDeployment', from: 'apps/v1' },
  'service.yaml': { model: new Service(service), type: 'IService', from: 'v1' },
  'settings.yaml': { model: new ConfigMap(settings), type: 'IConfigMap', from: 'v1' },
  'pod-disruption-budget.yaml': {
    model: new PodDisruptionBudget(budget),
    type: 'IPodDisruptionBudget',
    from: 'policy/v1',
  },
  'pod-monitor.yaml': { model: new PodMonitor(monitor), type: 'IPodMonitor', from: undefined },
}

suite('deploy/kubernetes', () => {
  for (const [file, { model }] of Object.entries(objects)) {
    test(`${file} is valid`, () => model.validate())
  }

  test('a value of another type is found', () => {
    const wrong = structuredClone(read('deployment.yaml'))
    wrong.spec.replicas = 'two'
    assert.throws(() => new Deployment(wrong).validate(), /replicas must be integer/)
  })

  test('no field is there that Kubernetes does not know', (t) => {
    assert.equal(
      unknownFields(t, (file) => read(file)),
      '',
    )
  })

  test('a field that Kubernetes does not know is found', (t) => {
    const wrong = unknownFields(t, (file) => {
      const object = read(file)
      if (file === 'deployment.yaml') object.spec.template.spec.containers[0].readynessProbe = {}
      return object
    })
    assert.match(wrong, /readynessProbe/)
  })

  test('every file is one of the Kustomization, and every one of it a file', () => {
    const { resources } = read('kustomization.yaml')
    const files = readdirSync(folder).filter((file) => file !== 'kustomization.yaml')
    assert.deepEqual(resources.toSorted(), files.toSorted())
    assert.deepEqual(Object.keys(objects).toSorted(), files.toSorted())
  })

  test('whatever selects pods selects those of the Deployment, by ports that they have', () => {
    const labels = deployment.spec?.template.metadata?.labels
    const spread = deployment.spec?.template.spec?.topologySpreadConstraints?.[0]
    for (const selected of [
      deployment.spec?.selector.matchLabels,
      service.spec?.selector,
      budget.spec?.selector?.matchLabels,
      monitor.spec?.selector?.matchLabels,
      spread?.labelSelector?.matchLabels,
    ]) {
      assert.deepEqual(selected, labels)
    }
    const { ports = [], ...container } = containerOf(deployment)
    const named = Object.fromEntries(ports.map(({ name, containerPort }) => [name, containerPort]))
    assert.deepEqual(named, { http: variables.PORT.default, metrics: 9100 })
    assert.equal(service.spec?.ports?.[0]?.targetPort, 'http')
    assert.equal(monitor.spec?.podMetricsEndpoints?.[0]?.port, 'metrics')
    for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'] as const) {
      assert.equal(container[probe]?.httpGet?.port, 'http', probe)
    }
  })

  test('what Prometheus makes of the pods has the job that the alerts name', () => {
    const alerts = readFileSync(join(root, 'docs/operations/alerts.yml'), 'utf8')
    const jobs = new Set([...alerts.matchAll(/job="([^"]*)"/g)].map(([, job]) => job))
    const { metadata, spec } = monitor
    const { labels = {} } = deployment.spec?.template.metadata ?? {}
    // Without the name of a label of the pods it is that of the object.
    const job = spec?.jobLabel ? labels[spec.jobLabel] : `${metadata?.namespace}/${metadata?.name}`
    assert.deepEqual([...jobs], [job])
  })

  test('its settings, with secrets, are a configuration without mistakes or notices', () => {
    const notices: string[] = []
    const env = { ...settings.data, ...secrets, AUTH_SMTP_HOST: 'mail.example.com' }
    const mail = { AUTH_SMTP_ADMIN_EMAIL: 'auth@example.com' }
    const config = readConfig({ ...env, ...mail }, { dev: false, warn: (one) => notices.push(one) })
    assert.deepEqual(notices, [])
    const pod = deployment.spec?.template.spec
    const longestMail = 60
    assert.ok(Number(pod?.terminationGracePeriodSeconds) > config.AUTH_SHUTDOWN_DELAY + longestMail)
    const probe = containerOf(deployment).readinessProbe
    const seenAfter = Number(probe?.periodSeconds) * Number(probe?.failureThreshold)
    assert.ok(config.AUTH_SHUTDOWN_DELAY > seenAfter, 'it stops before it is seen to')
  })

  test('it runs as nobody, and writes nowhere but /tmp', () => {
    const pod = deployment.spec?.template.spec
    assert.equal(pod?.securityContext?.runAsNonRoot, true)
    assert.equal(pod?.automountServiceAccountToken, false)
    // POSTERN_PORT and the like, of every Service, would be among the variables.
    assert.equal(pod?.enableServiceLinks, false)
    const { securityContext, volumeMounts } = containerOf(deployment)
    assert.equal(securityContext?.readOnlyRootFilesystem, true)
    assert.deepEqual(securityContext?.capabilities?.drop, ['ALL'])
    assert.deepEqual(
      volumeMounts?.map(({ mountPath }) => mountPath),
      ['/tmp'],
    )
  })
})

function containerOf({ spec }: IDeployment) {
  return spec?.template.spec?.containers[0] ?? assert.fail('no container')
}

/** What the compiler says of the objects as literals of their types, which may have no other field. */
function unknownFields(t: TestContext, objectIn: (file: string) => unknown): string {
  // Below the packages that the types are of.
  const cache = join(root, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const place = mkdtempSync(join(cache, 'kubernetes-'))
  t.after(() => rmSync(place, { recursive: true }))
  const lines = Object.entries(objects).map(([file, { type, from }]) => {
    const home = '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1'
    const types = from ? `kubernetes-models/${from}` : home
    return `void (${JSON.stringify(objectIn(file))} satisfies import('${types}').${type})`
  })
  const source = join(place, 'objects.ts')
  writeFileSync(source, `export {}\n${lines.join('\n')}\n`)
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022']
  const modules = ['--module', 'nodenext', '--moduleResolution', 'nodenext', '--ignoreConfig']
  const compiler = join(root, 'node_modules/.bin/tsc')
  return spawnSync(compiler, [...options, ...modules, source], { encoding: 'utf8' }).stdout
}
