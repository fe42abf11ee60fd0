/* A fake NVRTC of a version without builtins. Programs can open it but not compile with it. */
__attribute__((visibility("default"))) int nvrtcVersion(int *major, int *minor);

int nvrtcVersion(int *major, int *minor)
{
    *major = 99;
    *minor = 9;
    return 0;
}

#define UNUSED_FUNCTION(name)                                                                      \
    __attribute__((visibility("default"))) int name(void);                                         \
    int name(void)                                                                                 \
    {                                                                                              \
        return 1;                                                                                  \
    }

UNUSED_FUNCTION(nvrtcGetErrorString)
UNUSED_FUNCTION(nvrtcCreateProgram)
UNUSED_FUNCTION(nvrtcDestroyProgram)
UNUSED_FUNCTION(nvrtcAddNameExpression)
UNUSED_FUNCTION(nvrtcGetLoweredName)
UNUSED_FUNCTION(nvrtcCompileProgram)
UNUSED_FUNCTION(nvrtcGetProgramLogSize)
UNUSED_FUNCTION(nvrtcGetProgramLog)
UNUSED_FUNCTION(nvrtcGetCUBINSize)
UNUSED_FUNCTION(nvrtcGetCUBIN)
UNUSED_FUNCTION(nvrtcGetPTXSize)
UNUSED_FUNCTION(nvrtcGetPTX)
