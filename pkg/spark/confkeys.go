/*
Copyright The spark-apiserver Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package spark

// Keys of Spark properties that are read or written here: org.apache.spark.deploy.k8s.Config and
// org.apache.spark.internal.config of Spark 3.5 to 4.3.
const (
	keyPrefix = "spark."

	keyMaster               = "spark.master"
	keyDeployMode           = "spark.submit.deployMode"
	keyAppName              = "spark.app.name"
	keyAppID                = "spark.app.id"
	keySubmitTime           = "spark.app.submitTime"
	keyJars                 = "spark.jars"
	keyFiles                = "spark.files"
	keyArchives             = "spark.archives"
	keyPyFiles              = "spark.submit.pyFiles"
	keyPackages             = "spark.jars.packages"
	keyExcludePackages      = "spark.jars.excludes"
	keyRepositories         = "spark.jars.repositories"
	keyIvy                  = "spark.jars.ivy"
	keyUIPort               = "spark.ui.port"
	keyUIEnabled            = "spark.ui.enabled"
	keyUIProxyBase          = "spark.ui.proxyBase"
	keyUIProxyRedirectURI   = "spark.ui.proxyRedirectUri"
	keyMetricsNamespace     = "spark.metrics.namespace"
	keyMetricsConf          = "spark.metrics.conf"
	keyConnectPort          = "spark.connect.grpc.binding.port"
	keyBlockManagerPort     = "spark.blockManager.port"
	keyLocalDir             = "spark.local.dir"
	keyDecommissionEnabled  = "spark.decommission.enabled"
	keyMaxRegisteredWaiting = "spark.scheduler.maxRegisteredResourcesWaitingTime"
	keyMaxExecutorFailures  = "spark.executor.maxNumFailures"
	keyKeytab               = "spark.kerberos.keytab"
	keyPrincipal            = "spark.kerberos.principal"
	keyPySparkPython        = "spark.pyspark.python"
	keyPySparkDriverPython  = "spark.pyspark.driver.python"

	keyDriverHost             = "spark.driver.host"
	keyDriverBindAddress      = "spark.driver.bindAddress"
	keyDriverPort             = "spark.driver.port"
	keyDriverBlockManagerPort = "spark.driver.blockManager.port"
	keyDriverExtraJavaOptions = "spark.driver.extraJavaOptions"

	keyExecutorInstances        = "spark.executor.instances"
	keyExecutorExtraJavaOptions = "spark.executor.extraJavaOptions"
	keyExecutorPySparkMemory    = "spark.executor.pyspark.memory"
	keyOffHeapEnabled           = "spark.memory.offHeap.enabled"
	keyOffHeapSize              = "spark.memory.offHeap.size"

	keyDynamicEnabled         = "spark.dynamicAllocation.enabled"
	keyDynamicInitial         = "spark.dynamicAllocation.initialExecutors"
	keyDynamicMin             = "spark.dynamicAllocation.minExecutors"
	keyDynamicMax             = "spark.dynamicAllocation.maxExecutors"
	keyShuffleTrackingEnabled = "spark.dynamicAllocation.shuffleTracking.enabled"
	keyShuffleTrackingTimeout = "spark.dynamicAllocation.shuffleTracking.timeout"

	keyNamespace                = "spark.kubernetes.namespace"
	keyImage                    = "spark.kubernetes.container.image"
	keyImagePullPolicy          = "spark.kubernetes.container.image.pullPolicy"
	keyImagePullSecrets         = "spark.kubernetes.container.image.pullSecrets"
	keyMemoryOverheadFactor     = "spark.kubernetes.memoryOverheadFactor"
	keyPythonVersion            = "spark.kubernetes.pyspark.pythonVersion"
	keyResourceType             = "spark.kubernetes.resource.type"
	keySubmitInDriver           = "spark.kubernetes.submitInDriver"
	keySchedulerName            = "spark.kubernetes.scheduler.name"
	keyLocalDirsTmpfs           = "spark.kubernetes.local.dirs.tmpfs"
	keyHadoopConfigMap          = "spark.kubernetes.hadoop.configMapName"
	keyKrb5Path                 = "spark.kubernetes.kerberos.krb5.path"
	keyKrb5ConfigMap            = "spark.kubernetes.kerberos.krb5.configMapName"
	keyTokenSecretName          = "spark.kubernetes.kerberos.tokenSecret.name"
	keyTokenSecretItemKey       = "spark.kubernetes.kerberos.tokenSecret.itemKey"
	keyLegacyReadWriteOnce      = "spark.kubernetes.legacy.useReadWriteOnceAccessMode"
	keyAllocationBatchSize      = "spark.kubernetes.allocation.batch.size"
	keyTaskCPUs                 = "spark.task.cpus"
	keyDriverDefaultJavaOptions = "spark.driver.defaultJavaOptions"
	keyAllocationPodsAllocator  = "spark.kubernetes.allocation.pods.allocator"
	prefixNodeSelector          = "spark.kubernetes.node.selector."
	keyPrivilegeEscalation      = "spark.kubernetes.securityContext.allowPrivilegeEscalation"

	keyDriverPodName             = "spark.kubernetes.driver.pod.name"
	keyDriverMaster              = "spark.kubernetes.driver.master"
	keyDriverServiceAccount      = "spark.kubernetes.authenticate.driver.serviceAccountName"
	keyDriverSchedulerName       = "spark.kubernetes.driver.scheduler.name"
	keyDriverTemplateFile        = "spark.kubernetes.driver.podTemplateFile"
	keyDriverTemplateContainer   = "spark.kubernetes.driver.podTemplateContainerName"
	keyDriverFeatureSteps        = "spark.kubernetes.driver.pod.featureSteps"
	keyDriverExcludedSteps       = "spark.kubernetes.driver.pod.excludedFeatureSteps"
	keyDriverIPFamilyPolicy      = "spark.kubernetes.driver.service.ipFamilyPolicy"
	keyDriverIPFamilies          = "spark.kubernetes.driver.service.ipFamilies"
	keyDriverPublishNotReady     = "spark.kubernetes.driver.service.publishNotReadyAddresses"
	keyDriverPrivilegeEscalation = "spark.kubernetes.driver.securityContext.allowPrivilegeEscalation"
	prefixDriverEnv              = "spark.kubernetes.driverEnv."
	prefixDriverServiceLabel     = "spark.kubernetes.driver.service.label."
	prefixDriverServiceAnno      = "spark.kubernetes.driver.service.annotation."

	keyExecutorServiceAccount      = "spark.kubernetes.authenticate.executor.serviceAccountName"
	keyExecutorSchedulerName       = "spark.kubernetes.executor.scheduler.name"
	keyExecutorTemplateFile        = "spark.kubernetes.executor.podTemplateFile"
	keyExecutorTemplateContainer   = "spark.kubernetes.executor.podTemplateContainerName"
	keyExecutorPodNamePrefix       = "spark.kubernetes.executor.podNamePrefix"
	keyExecutorDeleteOnTermination = "spark.kubernetes.executor.deleteOnTermination"
	keyExecutorHadoopConfigMap     = "spark.kubernetes.executor.hadoopConfigMapName"
	keyExecutorGracePeriod         = "spark.kubernetes.executor.terminationGracePeriodSeconds"
	keyExecutorPrivilegeEscalation = "spark.kubernetes.executor.securityContext.allowPrivilegeEscalation"
	keyExecutorDisableConfigMap    = "spark.kubernetes.executor.disableConfigMap"
	prefixExecutorEnv              = "spark.executorEnv."

	prefixHadoop = "spark.hadoop."
)
